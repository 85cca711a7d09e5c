import type { Transaction } from '@chainstead/db';
import { type AuditActor, recordAudit } from '@chainstead/http';

/** What is done to streams. */
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

/** Writes down what was done to a stream, in the transaction that does it. @param details holds no URL, as receivers put secrets into those */
export function auditStream(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor,
  action: StreamAction,
  target: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return recordAudit(transaction, by, { action, target, details });
}
