/** Adds Spanish to cronstrue when it is loaded; it exports nothing of use. */
declare module 'cronstrue/locales/es'
