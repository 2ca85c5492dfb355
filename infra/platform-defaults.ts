/** The upstream platform, unless a deployment says otherwise: for its functions, and for commands that ask it. */
export const platformDefaults = { baseUrl: 'https://graph.facebook.com', version: 'v25.0' } as const;
