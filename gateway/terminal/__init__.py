"""What commands of `daybook` share: asking a gateway, printing, prompting."""
