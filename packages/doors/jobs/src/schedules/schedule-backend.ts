import type { BackendFactory, IQueueBackend } from 'bullmq';

/** BullMQ requires a connection in every constructor; the factory replaces it. */
export interface ScheduleBackend {
  readonly factory: BackendFactory<IQueueBackend, true>;
  readonly prefix: string;
  readonly watch: BackendWatch;
  close(): Promise<void>;
}

export interface BackendWatch {
  isUp(): boolean;
  /** Up for some seconds: a failure now is no late effect of an outage. */
  isSteady(): boolean;
  look(): Promise<boolean>;
  onUp(listener: () => void): () => void;
}
