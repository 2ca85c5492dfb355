export const platformDefaults = { baseUrl: 'https://graph.facebook.com', version: 'v25.0' } as const;
