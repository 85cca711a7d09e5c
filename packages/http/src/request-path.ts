import { getPath } from 'hono/utils/url';

/** Pages whose links are relative: a redirect, not the path, decides on their last slash. */
const KEEPS_LAST_SLASH = /^\/(?:docs\/$|console(?:\/|$))/;

/**
 * Returns the path that a request is routed by. Clients join a base URL and a path with one slash too many, or end a path with one: both name the
 * same route.
 */
export function requestPath(request: Request): string {
  const path = getPath(request);
  const single = path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
  const isEnded = single.length > 1 && single.endsWith('/') && !KEEPS_LAST_SLASH.test(single);
  return isEnded ? single.slice(0, -1) : single;
}
