"""Why a model answers as it does: what each word or cell adds to the answer, and similar training rows."""
