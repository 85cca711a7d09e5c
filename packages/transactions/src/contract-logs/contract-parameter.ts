import { addressParameter } from '@chainstead/http';

/** The contract in the path. Clients of the hosted API recognize this error text of logs and events. */
export const contractParameter = addressParameter('Invalid address provided').openapi({
  description: 'The contract address',
});
