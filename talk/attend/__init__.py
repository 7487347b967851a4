"""What an attendee uses after the talk: exercises and their grader, quiz, notebooks."""
