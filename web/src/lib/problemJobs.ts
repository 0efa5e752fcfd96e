export const FAILED_STATES = ['failure', 'error', 'timeout']
/** The states that the dashboard reports as problems, and the filter for them. The first page needs
 * them without the rest of the filters. */
export const PROBLEM_STATES = [...FAILED_STATES, 'lost']
export const PROBLEMS = 'problems'
