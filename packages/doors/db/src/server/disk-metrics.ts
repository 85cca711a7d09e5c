import { statfs } from 'node:fs/promises';
import { defineMetrics, errorText, gauge, type Logger, type Registry, readTogether } from '@chainstead/core';

export const createDiskMetrics = defineMetrics('chainstead_disk', {
  freeBytes: gauge('Free bytes on the disk of the embedded Postgres. Absent if DATABASE_URL is set'),
  sizeBytes: gauge('Size in bytes of the disk of the embedded Postgres. Absent if DATABASE_URL is set'),
});

export function measureDisk(registry: Registry, folder: string, logger: Logger): void {
  const { freeBytes, sizeBytes } = createDiskMetrics(registry);
  readTogether([freeBytes, sizeBytes], async () => {
    try {
      const { bavail, blocks, bsize } = await statfs(folder);
      freeBytes.set(bavail * bsize);
      sizeBytes.set(blocks * bsize);
    } catch (error) {
      logger.debug({ folder, reason: errorText(error) }, 'Free disk space could not be read');
    }
  });
}
