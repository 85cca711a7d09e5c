import type { UpstreamConfig } from './upstream-pool.ts';

/** Cuts to `lengthMax` characters. @default 500 */
export type Redactor = (text: string, lengthMax?: number) => string;

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

/** `host[:port]`, `#2` for repeats. Paths and credentials contain keys. */
export function nameUpstreams(configs: readonly UpstreamConfig[]): string[] {
  const seen = new Map<string, number>();
  return configs.map((config) => {
    const host = new URL(config.url).host;
    const count = (seen.get(host) ?? 0) + 1;
    seen.set(host, count);
    return count === 1 ? host : `${host}#${count}`;
  });
}
