import type { BackendFactory, IQueueBackend } from 'bullmq';

/** Storage of schedules. BullMQ requires a connection in every constructor; the factory replaces it. */
export interface ScheduleBackend {
  readonly factory: BackendFactory<IQueueBackend, true>;
  /** Key prefix on Redis. */
  readonly prefix: string;
  /** Availability of the storage. */
  readonly watch: BackendWatch;
  close(): Promise<void>;
}

export interface BackendWatch {
  isUp(): boolean;
  /** Returns true if the storage was available for some seconds: a failure now is not a late effect of an outage. */
  isSteady(): boolean;
  /** Checks immediately, after a failure. @returns true if the storage is available */
  look(): Promise<boolean>;
  /** Calls the listener each time the storage becomes available again. @returns a function that removes the listener */
  onUp(listener: () => void): () => void;
}
