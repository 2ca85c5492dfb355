/** The platform's facts of a number (platform reference, 8); unknown ones are absent. */
export interface LiveValues {
  /** `ACTIVE` for a number in service; every other value as the platform spells it. */
  readonly status?: string | undefined;
  readonly currentLimit?: string | undefined;
  readonly qualityRating?: string | undefined;
  readonly isOnBizApp?: boolean | undefined;
  /** Dial code of the country, without a plus. */
  readonly phoneCode?: string | undefined;
  /** Digits of the number after the dial code. */
  readonly phoneNumber?: string | undefined;
  /** ISO 8601, UTC. */
  readonly registeredAt?: string | undefined;
  readonly externalWebhook?: string | undefined;
  /** The number's speed in the platform's word: `STANDARD`, `HIGH` (platform reference, 4.4). Not listed. */
  readonly throughputLevel?: string | undefined;
}

export interface PlatformNumber {
  readonly phoneNumberId: string;
  readonly live: LiveValues;
}

/** A channel in the listing (contract, Client messaging channel; D35): provisioned facts and live values. */
export interface ListedChannel extends LiveValues {
  readonly clientId: number;
  readonly waId: string;
  readonly channelId: number;
  /** Absent where provisioning names none. */
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
  /** Dropped from the provisioning file; listed only on request. */
  readonly deleted: boolean;
}
