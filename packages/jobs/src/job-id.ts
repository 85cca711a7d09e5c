/**
 * Any text as a BullMQ job id: BullMQ refuses ids with colons and ids that look like integers, both of which natural keys
 * have. {@link decodeJobId} is the inverse.
 */
export function encodeJobId(id: string): string {
  return `=${id.replaceAll('%', '%25').replaceAll(':', '%3A')}`;
}

/** The natural id of a BullMQ job id; ids that BullMQ made itself (of scheduled jobs) come back as they are. */
export function decodeJobId(jobId: string): string {
  return jobId.startsWith('=') ? jobId.slice(1).replaceAll('%3A', ':').replaceAll('%25', '%') : jobId;
}
