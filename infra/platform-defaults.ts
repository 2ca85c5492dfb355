/** The default upstream platform, for the functions and for commands that call it. */
export const platformDefaults = { baseUrl: 'https://graph.facebook.com', version: 'v25.0' } as const;
