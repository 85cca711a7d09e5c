/** RFC 7617; null without. @throws URIError for malformed percent-encoding */
export function basicAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}
