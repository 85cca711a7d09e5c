export function splitPath(url: string): { readonly slug: string; readonly rest: string } {
  const query = url.indexOf('?');
  const given = query === -1 ? url : url.slice(0, query);
  const path = given.includes('//') ? given.replaceAll(/\/{2,}/g, '/') : given;
  const slash = path.indexOf('/', 1);
  if (slash === -1) return { slug: path.slice(1), rest: '' };
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  return { slug: path.slice(1, slash), rest: path.slice(slash + 1, end) };
}
