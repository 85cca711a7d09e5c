import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { errorText, Gauge, type Logger, type Registry } from '@chainstead/core';

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
    'Free bytes on the disk of the embedded Postgres. Absent if DATABASE_URL is set',
    ({ bavail, bsize }) => bavail * bsize,
  );
  gauge(
    'chainstead_disk_size_bytes',
    'Size in bytes of the disk of the embedded Postgres. Absent if DATABASE_URL is set',
    ({ blocks, bsize }) => blocks * bsize,
  );
}
