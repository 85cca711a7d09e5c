/**
 * `Authorization` of the user and password in a URL (RFC 7617); null where it has none.
 * @throws URIError for a malformed percent-encoding
 */
export function basicAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
