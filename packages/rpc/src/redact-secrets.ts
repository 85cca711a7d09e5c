import type { UpstreamConfig } from './upstream-pool.ts';

/** Blanks secrets in a text, and cuts it to 500 characters or as many as told. */
export type Redactor = (text: string, lengthMax?: number) => string;

/** Gives a function that blanks, in any text of this upstream, the secrets of its URL and headers. */
export function createRedactor(config: UpstreamConfig): Redactor {
  const url = new URL(config.url);
  const secrets = [
    decodeURIComponent(url.password),
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
    ...Object.values(config.headers ?? {}).flatMap((value) => [value, ...value.split(' ')]),
  ].filter((secret) => secret.length >= 8);
  return (text, lengthMax = 500) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text).slice(0, lengthMax);
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
