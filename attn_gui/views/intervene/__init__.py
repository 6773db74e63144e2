"""What changes inside a model do to what it says: before beside after."""
