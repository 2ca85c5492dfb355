import * as v from 'valibot';

/** The one address that stands for this machine in `localNetwork`. */
const thisMachine = '127.0.0.1';

const LocalReceiverSchema = v.object({
  // A name: no address can be let through by this.
  host: v.pipe(v.string(), v.regex(/^[a-z0-9.-]+\.[a-z]+$/)),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)),
  ca: v.string(),
});

/** A receiver on the developer's own machine, which the local stack lets events go to under a public name. */
export type LocalReceiver = v.InferOutput<typeof LocalReceiverSchema>;

/**
 * Reads the variable `WEBHOOK_TRUSTED_RECEIVER` (JSON). Only the local stack sets it, as it sets the endpoints of the AWS
 * services; no deployment does, and a test holds the templates to that.
 */
export function localReceiver(variable: string | undefined): LocalReceiver | undefined {
  return variable === undefined ? undefined : v.parse(LocalReceiverSchema, JSON.parse(variable));
}

/**
 * What connecting to `host` does differently when it is the local receiver's: the name is not looked up and stands for
 * this machine, on the receiver's port, with the receiver's own certificate. Empty for every other host, and always
 * without a receiver: addresses inside are refused as ever. To be spread over the public network's ways to connect.
 */
export function localNetwork(receiver: LocalReceiver | undefined, host: string) {
  if (receiver === undefined || receiver.host !== host) return {};
  return {
    lookup: async () => [{ address: thisMachine, family: 4 }],
    isAllowedAddress: (address: string) => address === thisMachine,
    port: receiver.port,
    ca: receiver.ca,
  };
}
