import type { Transaction } from '@chainstead/db';
import { type AuditActor, recordAudit } from '@chainstead/http';

type Action =
  | ('create' | 'duplicate' | 'update' | 'delete' | 'addresses' | 'settings')
  | ('pause' | 'resume' | 'terminate' | 'replay' | 'test');

/** In the action's transaction. No URLs in `details`: they may include secrets. */
export function auditStream(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor,
  action: `stream.${Action}`,
  target: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return recordAudit(transaction, by, { action, target, details });
}
