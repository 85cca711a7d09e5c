import type { ApiContext } from '../api-context.ts';
import { clientAddressOf } from '../client-address.ts';
import type { AuditActor } from './audit-log.ts';

/** Whom requests are counted for where no key is needed. */
const OPEN_ID = 'open';

/** Who asks by the API: the key of the request, or `open` where no key is needed. */
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
