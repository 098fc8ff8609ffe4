import fc from 'fast-check';

/**
 * The gate must say the same of the same tree each time, so properties are tried on the same values there.
 * `PROPERTY_SEED=<number>` tries others.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });

export { fc };
