import { hostname, userInfo } from 'node:os';
import type { AuditActor } from '@chainstead/http';

export function commandActor(): AuditActor {
  return { door: 'command', id: `${accountName()}@${hostname()}`, name: null, address: null, requestId: null };
}

/** A container may run as a user without a name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
