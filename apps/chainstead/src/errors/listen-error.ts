import { defineError, errorText } from '@chainstead/core';

export interface ListenFailure {
  readonly host: string;
  readonly port: number;
  readonly key?: string;
  readonly hostKey?: string;
  readonly cause: unknown;
}

export class ListenError extends defineError(
  'LISTEN_FAILED',
  ({ host, port, key = 'PORT', hostKey = 'HOST', cause }: ListenFailure) => ({
    message: `Can't listen on ${host}:${port} (${key}): ${errorText(cause)}`,
    facts: { host, port, key },
    remedy: remedyFor(cause, key, hostKey),
    cause,
  }),
) {}

function remedyFor(cause: unknown, key: string, hostKey: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `Set ${hostKey} to an address of this machine, for example 127.0.0.1, or 0.0.0.0 for all addresses`;
  if (code === 'EACCES') return `Set ${key} to a port above 1023. This user may not open a lower one`;
  const free = key === 'APTOS_TESTNET_PORT' ? '' : ' (0 uses a free port)';
  return `Stop the other program on this port, or set another ${key}${free}`;
}
