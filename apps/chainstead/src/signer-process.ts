/** Process that recovers senders from signatures (signer-processes.ts). Responds to each message, in order, until its channel closes. */
import { recoverSigners } from '@chainstead/proof/packed-signatures';

// Ctrl-C reaches the whole process group. The parent process handles it, and then closes the channel.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (signatures: Uint8Array) => {
  if (process.connected) process.send?.(recoverSigners(signatures));
});
