import type { AuditActor } from '@chainstead/http';

/** An API actor, without a key unless one is named. */
export function exampleActor(id = 'open'): AuditActor {
  return { door: 'api', id, name: null, address: '127.0.0.1', requestId: 'request' };
}
