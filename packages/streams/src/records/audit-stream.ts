import type { Transaction } from '@chainstead/db';
import { type AuditActor, recordAudit } from '@chainstead/http';

/** What is done to streams. */
export type StreamAction =
  | 'stream.create'
  | 'stream.update'
  | 'stream.addresses'
  | 'stream.pause'
  | 'stream.resume'
  | 'stream.terminate'
  | 'stream.replay'
  | 'stream.test';

/**
 * Writes down what was done to a stream, in the transaction that does it. @param by nobody: the request came by the API, whose changes are
 * not written down. @param details holds no URL, as receivers put secrets into those
 */
export async function auditStream(
  transaction: Pick<Transaction, 'query'>,
  by: AuditActor | undefined,
  action: StreamAction,
  target: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (by !== undefined) await recordAudit(transaction, by, { action, target, details });
}
