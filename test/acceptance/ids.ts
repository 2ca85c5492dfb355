/**
 * The ids replace those of the demo data. No real client, number or WABA has them (country code 999 is unassigned).
 * They never change, so that a run removes what an earlier run has left.
 */
export const acceptanceIds = {
  clients: { operator: 990_000_001, andes: 990_001_001, boreal: 990_001_002 },
  wabas: { shared: '990000000000001', boreal: '990000000000002' },
  dids: { andes: '9991100000001', boreal: '9991100000002', saoPaulo: '9991900000003' },
  channels: { andes: 990_000_501, boreal: 990_000_502, saoPaulo: 990_000_503 },
  campaigns: { onboarding: 990_000_010, collections: 990_000_011, reminders: 990_000_020 },
} as const;
