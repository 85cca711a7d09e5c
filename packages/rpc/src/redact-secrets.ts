import type { UpstreamConfig } from './upstream-pool.ts';

/** Gives a function that blanks, in any text of this upstream, the secrets of its URL and headers. */
export function createRedactor(config: UpstreamConfig): (text: string) => string {
  const url = new URL(config.url);
  const secrets = [
    decodeURIComponent(url.password),
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
    ...Object.values(config.headers ?? {}).flatMap((value) => [value, ...value.split(' ')]),
  ].filter((secret) => secret.length >= 8);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text).slice(0, 500);
}

/** `host[:port]` of each upstream, with `#2` where one repeats. No path, no credentials: keys live there. */
export function nameUpstreams(configs: readonly UpstreamConfig[]): string[] {
  const seen = new Map<string, number>();
  return configs.map((config) => {
    const host = new URL(config.url).host;
    const count = (seen.get(host) ?? 0) + 1;
    seen.set(host, count);
    return count === 1 ? host : `${host}#${count}`;
  });
}
