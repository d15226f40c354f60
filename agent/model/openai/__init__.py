"""Models behind the chat completions API: OpenAI's and the many that speak it."""
