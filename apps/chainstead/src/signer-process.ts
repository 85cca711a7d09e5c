/** A process that recovers who made signatures (signer-processes.ts): answers each message, in order, until its channel closes. */
import { recoverSigners } from '@chainstead/proof/packed-signatures';

// Ctrl-C reaches the whole process group: who started this one answers to it, and then closes the channel.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (signatures: Uint8Array) => {
  if (process.connected) process.send?.(recoverSigners(signatures));
});
