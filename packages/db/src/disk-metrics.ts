import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { errorText, Gauge, type Logger, type Registry } from '@chainstead/core';

/** Shows how much of the disk under a folder is free, read at the scrape: the embedded server's, since nobody else sees to it. */
export function measureDisk(registry: Registry, folder: string, logger: Logger): void {
  const gauge = (name: string, help: string, read: (facts: StatsFs) => number): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        try {
          this.set(read(await statfs(folder)));
        } catch (error) {
          logger.debug({ folder, reason: errorText(error) }, 'Free disk space could not be read');
        }
      },
    });
  gauge(
    'chainstead_disk_free_bytes',
    'What is free on the disk of the embedded Postgres; absent with DATABASE_URL',
    ({ bavail, bsize }) => bavail * bsize,
  );
  gauge(
    'chainstead_disk_size_bytes',
    'Size of the disk of the embedded Postgres; absent with DATABASE_URL',
    ({ blocks, bsize }) => blocks * bsize,
  );
}
