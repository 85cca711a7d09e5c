/** The first segment of a URL's path, and what is behind it without query and last slash: a chain and a key. */
export function splitPath(url: string): { readonly slug: string; readonly rest: string } {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const slash = path.indexOf('/', 1);
  if (slash === -1) return { slug: path.slice(1), rest: '' };
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  return { slug: path.slice(1, slash), rest: path.slice(slash + 1, end) };
}
