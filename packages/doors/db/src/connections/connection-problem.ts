import { errorText } from '@chainstead/core';

const NO_PASSWORD = /client password must be a (?:non-empty )?string/;

export function connectionProblem(cause: unknown): string {
  const text = errorText(cause);
  return NO_PASSWORD.test(text) ? 'the server asks for a password, and the URL has none' : text;
}
