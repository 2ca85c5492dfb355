/** Unknown facts of a number are absent (platform reference, 8). */
export interface LiveValues {
  /** A number in service is `ACTIVE`; every other value is as the platform spells it. */
  readonly status?: string | undefined;
  readonly currentLimit?: string | undefined;
  readonly qualityRating?: string | undefined;
  readonly isOnBizApp?: boolean | undefined;
  /** The country's dial code has no plus. */
  readonly phoneCode?: string | undefined;
  /** These digits follow the dial code. */
  readonly phoneNumber?: string | undefined;
  /** The time is ISO 8601, UTC. */
  readonly registeredAt?: string | undefined;
  readonly externalWebhook?: string | undefined;
  /** The platform words the number's speed `STANDARD` or `HIGH` (platform reference, 4.4). It is not listed. */
  readonly throughputLevel?: string | undefined;
}

export interface PlatformNumber {
  readonly phoneNumberId: string;
  readonly live: LiveValues;
}

/** A listed channel has provisioned facts and live values (contract, Client messaging channel; D35). */
export interface ListedChannel extends LiveValues {
  readonly clientId: number;
  readonly waId: string;
  readonly channelId: number;
  /** The name is absent where provisioning names none. */
  readonly name?: string | undefined;
  readonly clientName: string;
  readonly wabaId: string;
  readonly wabaName: string;
  readonly businessId: string;
  readonly businessName: string;
  readonly phoneNumberId: string;
  readonly status: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** The provisioning file has dropped it; it is listed only on request. */
  readonly deleted: boolean;
}
