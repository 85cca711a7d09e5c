import type { BackendFactory, IQueueBackend } from 'bullmq';

/** Storage of schedules. BullMQ requires a connection in every constructor; the factory replaces it. */
export interface ScheduleBackend {
  readonly factory: BackendFactory<IQueueBackend, true>;
  readonly prefix: string;
  readonly watch: BackendWatch;
  close(): Promise<void>;
}

export interface BackendWatch {
  isUp(): boolean;
  /** True after some seconds of availability: a failure now is not a late effect of an outage. */
  isSteady(): boolean;
  /** Checks immediately. @returns true if the storage is available */
  look(): Promise<boolean>;
  /** Calls the listener at each return of the storage. @returns a function that removes the listener */
  onUp(listener: () => void): () => void;
}
