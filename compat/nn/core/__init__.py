"""How any module computes, goes back, is copied, converted and saved. No layer is here."""
