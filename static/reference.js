"use strict";

// The reference reads the document that the service itself is made of, so it cannot be out of date.
window.SwaggerUIBundle({
  url: "/api/v1/public/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
