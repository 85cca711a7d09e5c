import type { ApiContext } from './api-context.ts';
import type { AuditActor } from './audit/audit-log.ts';
import { clientAddressOf } from './audit/client-address.ts';

/** Id that requests without a key are counted under. */
const OPEN_ID = 'open';

/** Returns the API actor: the key of the request, or `open` if no key is needed. */
export function apiActorOf(c: ApiContext): AuditActor {
  const principal = c.get('principal');
  return {
    door: 'api',
    id: principal?.id ?? OPEN_ID,
    name: principal?.name ?? null,
    address: clientAddressOf(c.env),
    requestId: c.get('requestId'),
  };
}
