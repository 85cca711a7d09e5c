import type { BackendFactory, IQueueBackend } from 'bullmq';
import type { BackendWatch } from './backend-watch.ts';

/** Where queues live. BullMQ wants a connection in every constructor; ours are in the factory already. */
export interface QueueBackend {
  readonly factory: BackendFactory<IQueueBackend, true>;
  /** Key prefix of the queues; of use on Redis only. */
  readonly prefix: string;
  readonly watch: BackendWatch;
  close(): Promise<void>;
}
