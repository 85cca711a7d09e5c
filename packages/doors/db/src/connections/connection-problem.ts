import { errorText } from '@chainstead/core';

/** The client library's message if the server asks for a password which the URL lacks. */
const NO_PASSWORD = /client password must be a (?:non-empty )?string/;

/** In words of the connection string. */
export function connectionProblem(cause: unknown): string {
  const text = errorText(cause);
  return NO_PASSWORD.test(text) ? 'the server asks for a password, and the URL has none' : text;
}
