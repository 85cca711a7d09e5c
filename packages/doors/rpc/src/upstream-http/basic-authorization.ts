/** `Authorization` of a URL's user and password (RFC 7617), or null. @throws URIError for a malformed percent-encoding */
export function basicAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
