/** Recovers senders from signatures in order (signer-processes.ts), until its channel closes. */
import { recoverSigners } from '@chainstead/proof/packed-signatures';

// Ctrl-C reaches the whole process group; the parent closes the channel.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (signatures: Uint8Array) => {
  if (process.connected) process.send?.(recoverSigners(signatures));
});
