import { ponder } from 'ponder:registry';
import { transfer } from 'ponder:schema';

ponder.on('Token:Transfer', async ({ event, context }) => {
  await context.db.insert(transfer).values({
    id: event.id,
    blockNumber: event.block.number,
    blockTime: event.block.timestamp,
    transactionHash: event.transaction.hash,
    transactionIndex: event.transaction.transactionIndex,
    logIndex: event.log.logIndex,
    contract: event.log.address,
    from: event.args.from,
    to: event.args.to,
    value: event.args.value,
  });
});
