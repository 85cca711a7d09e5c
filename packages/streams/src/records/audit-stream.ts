import type { Transaction } from '@chainstead/db';
import { type AuditActor, recordAudit } from '@chainstead/http';

/** Audited stream actions. */
export type StreamAction =
  | 'stream.create'
  | 'stream.duplicate'
  | 'stream.update'
  | 'stream.addresses'
  | 'stream.pause'
  | 'stream.resume'
  | 'stream.terminate'
  | 'stream.delete'
  | 'stream.replay'
  | 'stream.test'
  | 'stream.settings';

/**
 * Writes a stream action to the audit log, in the action's transaction.
 * @param details must not contain URLs, which may include secrets
 */
export function auditStream(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor,
  action: StreamAction,
  target: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return recordAudit(transaction, by, { action, target, details });
}
