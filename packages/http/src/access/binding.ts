import { isIP } from 'node:net';
import { defineError } from '@chainstead/core';
import type { KeyStore } from '../keys/key-store.ts';

export class UnsafeBindingError extends defineError('UNSAFE_BINDING', (host: string) => ({
  message: `HOST=${host} is reachable from other machines, but no API key exists`,
  facts: { host },
  remedy: 'Run `chainstead keys create`, set API_KEYS, or set HOST=127.0.0.1',
})) {}

/** Always this machine: `localhost`, `*.localhost` (RFC 6761), 127.0.0.0/8, `::1`. */
export function isLoopbackName(name: string): boolean {
  const bare = name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  if (isIP(bare) === 4) return bare.startsWith('127.');
  if (isIP(bare) === 6) return bare === '::1';
  return bare === 'localhost' || bare.endsWith('.localhost');
}

export function isLoopbackHostHeader(header: string): boolean {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/.exec(header.trim());
  return match?.[1] !== undefined && isLoopbackName(match[1]);
}

/** Refuses to listen on an address that other machines can read without a key. @throws UnsafeBindingError */
export async function assertSafeBinding(options: { readonly host: string; readonly keys: KeyStore }): Promise<void> {
  if (isLoopbackName(options.host)) return;
  if (!(await options.keys.inUse())) throw new UnsafeBindingError(options.host);
}
