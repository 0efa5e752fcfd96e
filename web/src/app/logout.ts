import { api, ok, UI } from '../api/client'
import { showError } from '../ui/toast'
import { clearRecentPages } from './shell/recent'

/** Ends the session and forgets everything on the page: a full load leaves nothing in memory. */
export async function signOut(): Promise<void> {
  await ok(api.POST('/api/session/logout')).catch(showError)
  clearRecentPages()
  location.assign(UI)
}

/** Another organization is another world: the page starts over. */
export async function switchTo(id: string): Promise<void> {
  try {
    await ok(api.PUT('/api/session/customer/{id}', { params: { path: { id } } }))
    location.assign(UI)
  } catch (fault) {
    showError(fault)
  }
}
