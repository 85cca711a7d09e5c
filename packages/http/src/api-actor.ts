import type { ApiContext } from './api-context.ts';
import type { AuditActor } from './audit/audit-log.ts';
import { clientAddressOf } from './audit/client-address.ts';

const OPEN_ID = 'open';

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
